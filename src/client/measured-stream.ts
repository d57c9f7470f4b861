/** A stream that reports how much of it was read, and whether its source failed. */

export type Measured = ReturnType<typeof measure>;

interface MeasureEvents {
  /** More bytes were read; `bytes` is their total. */
  onProgress?(bytes: number): void;
  /** The stream waits for its source, and not for its reader. */
  onWaiting?(): void;
  onEnd?(): void;
  onFailure?(): void;
}

/** The body of a request. The time that the program takes to provide the bytes does not count as silence. */
export const streamBody = (
  body: Blob | ReadableStream<Uint8Array>,
  silence: { pause(): void; onBytes(): void } | undefined,
  onProgress: ((sent: number) => void) | undefined,
): Measured =>
  measure(body instanceof Blob ? body.stream() : body, {
    onWaiting: () => silence?.pause(),
    onEnd: () => silence?.onBytes(),
    onProgress(sent) {
      silence?.onBytes();
      onProgress?.(sent);
    },
  });

export function measure(source: ReadableStream<Uint8Array>, events: MeasureEvents = {}) {
  const reader = source.getReader();
  let bytes = 0;
  let failure: unknown;
  let failStream = (_reason: unknown) => {};
  const fail = (error: unknown): never => {
    failure = error;
    events.onFailure?.();
    throw error;
  };
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      failStream = (reason) => controller.error(reason);
    },
    async pull(controller) {
      events.onWaiting?.();
      const { done, value } = await reader.read().catch(fail);
      if (done) {
        events.onEnd?.();
        return controller.close();
      }
      bytes += value.byteLength;
      controller.enqueue(value);
      try {
        events.onProgress?.(bytes);
      } catch (error) {
        fail(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return {
    stream,
    /** The error of the source, if it failed. */
    failure: () => failure,
    /** Releases the source when nothing more will be read. */
    stop(reason: unknown): void {
      // First fail the stream: cancelling the source alone would look like a complete file.
      failStream(reason);
      reader.cancel(reason).catch(() => undefined);
    },
  };
}

/** Reports the progress of a stream. */
export function countBytes(total: number, onProgress: (bytes: number, total: number) => void) {
  let bytes = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      controller.enqueue(chunk);
      onProgress(bytes, total);
    },
  });
}
