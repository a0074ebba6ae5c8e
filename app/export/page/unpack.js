// The page's data: deflated JSON in an element that is no script and no markup. Knows no replay.

const canUnpack = typeof DecompressionStream === "function" && typeof Response === "function";

async function unpack(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json();
}
