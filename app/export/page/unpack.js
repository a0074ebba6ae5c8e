// The page's data: deflated JSON in an element that is no script and no markup. Knows no replay.

const PACKING = "deflate-raw";

function canUnpack() {
  try {
    return Boolean(new DecompressionStream(PACKING));
  } catch {
    return false; // no such thing, or not this packing
  }
}

async function unpack(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(PACKING));
  return new Response(stream).json();
}
