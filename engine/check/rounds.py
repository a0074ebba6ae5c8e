"""One round derived again: its proposal, verdicts, closing token, match and caches.

Everything follows from what the round and the run before it record: p_target, q_draft, u, the seed
and the settings in force. Knows the rule and the uniforms; no model, no torch, no other round.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from engine.check import rows
from engine.check.findings import Kind
from engine.trace.events import CacheSpan, ClosingKind, ClosingToken, DraftedToken, DraftEnd, Fate
from engine.uniforms import Purpose, uniform

if TYPE_CHECKING:
    from engine.check.findings import Ledger
    from engine.check.record import Record
    from engine.trace.events import Round

_CLOSED = re.compile("a*(rd*)?")  # first letters of the fates of a round with a closing token
_CUT = re.compile("a*c*")  # and of one that the end of the text cut


def check_round(one: Round, record: Record, ledger: Ledger) -> None:
    """Derive a round again, given the run before it."""
    ledger.at(one.index)
    ledger.equal(Kind.ORDER, "index", one.index, record.rounds)
    ledger.equal(Kind.ORDER, "position", one.position, len(record.tokens))
    _check_proposal(one, record, ledger)
    _check_fates(one, ledger)
    sound: frozenset[str] = frozenset()  # of the laws of the token that was tested last
    for index, token in enumerate(one.drafted):
        ledger.at(one.index, index)
        _check_verdict(index, token, record, ledger)
        if token.laws is not None:
            found = _check_drafted_laws(one, index, record, ledger)
            sound = found if token.fate is Fate.REJECTED else sound
    if one.closing is not None:
        ledger.at(one.index, "closing")
        _check_closing(one, one.closing, sound, record, ledger)
    ledger.at(one.index)
    _check_match(one, record, ledger)
    _check_caches(one, record, ledger)


def _check_proposal(one: Round, record: Record, ledger: Ledger) -> None:
    settings, drafted = record.settings, len(one.drafted)
    ledger.equal(Kind.SETTINGS, "drafter", one.drafter, settings.drafter)
    asked = {settings.k, 0} if settings.drafter == "none" else {settings.k}
    ledger.holds(Kind.SETTINGS, "k", one.k in asked, one.k, settings.k)
    ledger.holds(Kind.SETTINGS, "tokens drafted", drafted <= one.k, drafted, f"at most k = {one.k}")
    end = one.draft_end
    if end is None:
        return
    short = ledger.holds(
        Kind.SETTINGS, "why the draft ended", drafted < one.k, end, "nothing: k were drafted"
    )
    if short and end is DraftEnd.UNSURE:
        true = settings.confidence > 0.0 and drafted >= settings.k_min
        follows = f"at least k_min = {settings.k_min}, and a confidence asked for"
        ledger.holds(Kind.SETTINGS, f"tokens drafted, {end}", true, drafted, follows)
    if short and end is DraftEnd.LIMIT:
        true = one.position + drafted + 1 >= record.longest
        ledger.holds(Kind.SETTINGS, f"tokens drafted, {end}", true, drafted, "there was room left")


def _check_fates(one: Round, ledger: Ledger) -> None:
    fates = "".join(token.fate.value[0] for token in one.drafted)
    pattern = _CUT if one.closing is None else _CLOSED
    follows = "accepted, then cut" if one.closing is None else "accepted, one rejected, discarded"
    recorded = ", ".join(token.fate for token in one.drafted) or "nothing drafted"
    ledger.holds(
        Kind.FATE, "fates in order", pattern.fullmatch(fates) is not None, recorded, follows
    )


def _check_verdict(index: int, token: DraftedToken, record: Record, ledger: Ledger) -> None:
    """Leviathan et al. 2023, Alg. 1: kept while u * q_draft < p_target, as the engine has it."""
    tested = token.fate in (Fate.ACCEPTED, Fate.REJECTED)
    if not ledger.holds(
        Kind.LAW, "q_draft", 0.0 < token.q_draft <= 1.0 + rows.MASS, token.q_draft, "in (0, 1]"
    ):
        return
    if record.drafter_greedy:
        ledger.equal(Kind.LAW, "q_draft of a one-hot law", token.q_draft, 1.0)
    if token.p_target is not None:
        follows = min(1.0, token.p_target / token.q_draft)
        if tested or token.acceptance_probability is not None:
            recorded = token.acceptance_probability
            ledger.equal(Kind.ACCEPTANCE, "acceptance probability", recorded, follows)
    if not tested:
        ledger.equal(Kind.UNIFORM, "u of a token that was not tested", token.u, None)
        return
    assert token.p_target is not None, "the codec refuses a verdict without its p_target"
    if record.greedy:
        ledger.equal(Kind.UNIFORM, "u of a greedy test", token.u, None)
        ledger.holds(Kind.LAW, "p_target", token.p_target in (0.0, 1.0), token.p_target, "1 or 0")
        kept = token.p_target == 1.0
        reason = f"p_target {token.p_target}"
    else:
        place = len(record.tokens) + index
        u = uniform(record.started.seed, place, Purpose.TEST)
        ledger.equal(Kind.UNIFORM, "u of the test", token.u, u)
        if token.u is None:
            return
        kept = token.u * token.q_draft < token.p_target
        sign = "<" if kept else ">="
        reason = f"u {token.u} x q_draft {token.q_draft} {sign} p_target {token.p_target}"
    fate = Fate.ACCEPTED if kept else Fate.REJECTED
    ledger.holds(Kind.VERDICT, "verdict", token.fate is fate, token.fate, f"{fate}: {reason}")


def _counts_at(one: Round, index: int, record: Record) -> Counter[int]:
    """Count what the output holds before drafted position `index`, where penalties ask for it."""
    settings = record.settings
    if settings.frequency_penalty == settings.presence_penalty == 0.0:
        return Counter()
    counts = Counter(record.output)
    counts.update(token.id for token in one.drafted[:index])
    return counts


def _check_drafted_laws(one: Round, index: int, record: Record, ledger: Ledger) -> frozenset[str]:
    """Check the laws at a drafted position; return those that can be used."""
    token = one.drafted[index]
    laws = token.laws
    assert laws is not None
    rejected = token.fate is Fate.REJECTED
    if token.fate is Fate.CUT:  # the pass scored it too; what it would have been decides nothing
        rejected = bool(laws.residual)
    sound = rows.check_columns(laws, ledger, drafted=True, rejected=rejected)
    if not ledger.holds(
        Kind.LAW, "rows", token.id in laws.ids, laws.ids, f"one of token {token.id}"
    ):
        return frozenset()
    for name, value in (("p_target", token.p_target), ("q_draft", token.q_draft)):
        if name in sound and value is not None:
            row = rows.column(laws, name)[token.id]
            ledger.near(Kind.LAW, f"{name} in its row", value, row, relative=rows.DIGITS)
    usable = rows.check_overlap(laws, sound, ledger)
    if usable and "residual" in sound and not rows.check_residual(laws, ledger):
        sound -= {"residual"}
    rows.check_entropies(laws, record.started.target.vocabulary, sound, ledger)
    rows.check_settings(laws, record.settings, _counts_at(one, index, record), sound, ledger)
    if not record.drafter_greedy and "q_draft" in sound:
        u = uniform(record.started.seed, len(record.tokens) + index, Purpose.DRAFT)
        rows.check_draw(laws, "q_draft", token.id, u, ledger)
    return sound


def _closing_kind(one: Round) -> ClosingKind:
    if one.rejected:
        return ClosingKind.CORRECTION
    return ClosingKind.BONUS if one.drafted else ClosingKind.PLAIN


def _check_closing(
    one: Round, closing: ClosingToken, sound: frozenset[str], record: Record, ledger: Ledger
) -> None:
    """Check the closing token; `sound` are the usable laws of the rejected one."""
    kind = _closing_kind(one)
    ledger.equal(Kind.CLOSING, "kind", closing.kind, kind)
    likely = 0.0 < closing.probability <= 1.0 + rows.MASS
    ledger.holds(Kind.CLOSING, "probability", likely, closing.probability, "in (0, 1]")
    if record.greedy:
        ledger.equal(Kind.UNIFORM, "u of a greedy choice", closing.u, None)
        ledger.equal(Kind.CLOSING, "probability in a one-hot law", closing.probability, 1.0)
    else:
        place = len(record.tokens) + one.accepted
        u = uniform(record.started.seed, place, Purpose(kind.value))
        ledger.equal(Kind.UNIFORM, f"u of the {kind}", closing.u, u)
    laws = closing.laws
    if laws is None:
        return
    corrected = kind is ClosingKind.CORRECTION
    if corrected:
        same = laws == one.drafted[one.accepted].laws
        if not ledger.holds(Kind.LAW, "laws", same, "others", "those of the rejected token"):
            return
    else:
        sound = rows.check_columns(laws, ledger, drafted=False, rejected=False)
        rows.check_entropies(laws, record.started.target.vocabulary, sound, ledger)
        counts = _counts_at(one, one.accepted, record)
        rows.check_settings(laws, record.settings, counts, sound, ledger)
    name = "residual" if corrected else "p_target"
    if name not in sound:
        return
    row = rows.column(laws, name).get(closing.id, 0.0)
    ledger.near(Kind.CLOSING, f"probability in {name}", closing.probability, row, relative=2e-5)
    if closing.u is not None:
        rows.check_draw(laws, name, closing.id, closing.u, ledger)


def _check_match(one: Round, record: Record, ledger: Ledger) -> None:
    """Check that an n-gram's proposal stands in the text where the match says."""
    match = one.match
    if match is None:
        copied = one.drafter == "ngram" and bool(one.drafted)
        ledger.holds(Kind.MATCH, "match", not copied, "nothing", "where the draft was copied from")
        return
    start, length = match.start, match.length
    text = list(record.tokens)
    if not ledger.holds(
        Kind.MATCH,
        "place",
        1 <= length <= start < len(text),
        f"start {start}, length {length}",
        f"within {len(text)} tokens",
    ):
        return
    same = text[start - length : start] == text[-length:]
    ledger.holds(Kind.MATCH, "n-gram", same, text[start - length : start], text[-length:])
    for offset, token in enumerate(one.drafted):  # a copy can run past the end into itself
        what = f"drafted token {offset}"
        if not ledger.equal(Kind.MATCH, what, token.id, text[start + offset]):
            return
        text.append(token.id)


def _check_caches(one: Round, record: Record, ledger: Ledger) -> None:
    """Check invariant 1: all but the last token is cached, and the drafter has no more."""
    span, position = one.target_cache, len(record.tokens)
    after = position + one.emitted - 1
    ledger.equal(Kind.CACHE, "target cache before", span.before, position - 1)
    ledger.equal(Kind.CACHE, "target cache at its peak", span.peak, position + len(one.drafted))
    ledger.equal(Kind.CACHE, "target cache after", span.after, after)
    _check_pages("target", span, ledger)
    own = one.drafter_cache
    if own is None:
        return
    true = 0 <= own.after <= after
    ledger.holds(Kind.CACHE, "drafter cache after", true, own.after, f"at most {after}")
    true = max(own.before, own.after) <= own.peak
    ledger.holds(Kind.CACHE, "drafter cache at its peak", true, own.peak, "no less than its ends")
    if record.drafter_cache is not None and record.drafter_cache[0] == one.drafter:
        ledger.equal(Kind.CACHE, "drafter cache before", own.before, record.drafter_cache[1])
    _check_pages("drafter", own, ledger)


def _check_pages(whose: str, span: CacheSpan, ledger: Ledger) -> None:
    for when in ("before", "peak", "after"):
        length, pages = getattr(span, when), getattr(span, f"pages_{when}")
        follows = -(-length // span.page_size)
        exact = whose == "target" and when != "peak"  # what padding held is given back
        true = pages == follows if exact else pages >= follows
        ledger.holds(Kind.CACHE, f"pages of the {whose} cache, {when}", true, pages, follows)
