/** A stream that reports how much of it was read, and whether its source failed. */

export interface Measured {
  readonly stream: ReadableStream<Uint8Array>;
  /** The error of the source, if it failed. */
  readonly failure: unknown;
  /** Releases the source when nothing more will be read. */
  stop(reason: unknown): void;
}

/** Reports progress. */
export function measure(source: ReadableStream<Uint8Array>, onProgress?: (bytes: number) => void): Measured {
  const reader = source.getReader();
  let bytes = 0;
  let failure: unknown;
  let failStream = (_reason: unknown) => {};
  const fail = (error: unknown): never => {
    failure = error;
    throw error;
  };
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      failStream = (reason) => controller.error(reason);
    },
    async pull(controller) {
      const { done, value } = await reader.read().catch(fail);
      if (done) return controller.close();
      bytes += value.byteLength;
      controller.enqueue(value);
      try {
        onProgress?.(bytes);
      } catch (error) {
        fail(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return {
    stream,
    get failure() {
      return failure;
    },
    stop(reason) {
      // First fail the stream: cancelling the source alone would look like a complete file.
      failStream(reason);
      reader.cancel(reason).catch(() => undefined);
    },
  };
}
