/** A stream that reports how much of it was read, and whether its source failed. */

export interface Measured {
  readonly stream: ReadableStream<Uint8Array>;
  /** The error of the source, if it failed. */
  readonly failure: unknown;
  /** Releases the source when nothing more will be read. */
  stop(reason: unknown): void;
}

interface MeasureEvents {
  /** More bytes were read; `bytes` is their total. */
  onProgress?(bytes: number): void;
  /** The stream waits for its source, and not for its reader. */
  onWaiting?(): void;
  onEnd?(): void;
}

/** The progress of a transfer, for the limit on the silence of the server. */
interface SilenceEvents {
  onBytes(): void;
  pause(): void;
}

/** The body of a request. The time that the program takes to provide the bytes does not count as silence. */
export const streamBody = (
  body: Blob | ReadableStream<Uint8Array>,
  silence: SilenceEvents | undefined,
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

export function measure(source: ReadableStream<Uint8Array>, events: MeasureEvents = {}): Measured {
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

/** Reports the progress of a stream. */
export function countBytes(
  total: number,
  onProgress: (bytes: number, total: number) => void,
): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      controller.enqueue(chunk);
      onProgress(bytes, total);
    },
  });
}
