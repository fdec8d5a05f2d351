/** Yields the texts of a stream as they arrive. The stream is cancelled when the reader stops early. */
export async function* readText(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  // Not every browser iterates over streams.
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const {done, value} = await reader.read();
      if (done) return;
      yield decoder.decode(value, {stream: true});
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Yields the complete lines of a stream. */
export async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  let rest = '';
  for await (const text of readText(stream)) {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line !== '');
  }
}
