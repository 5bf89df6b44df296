// Unpacks the data of the page: base64, zlib, JSON (crates/report/src/html/packed.rs).

/** The value that was packed. */
export async function unpack(packed: string): Promise<unknown> {
  const letters = atob(packed.trim());
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return (await new Response(plain).json()) as unknown;
}
