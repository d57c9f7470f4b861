/** A worker that decodes QR codes, so that the page stays responsive. */
import decodeQr from 'qr/decode.js';

addEventListener('message', ({ data }: MessageEvent<ImageData>) => postMessage(textsIn(data)));

/** The decoder throws if there is no QR code in the frame, which is the case most of the time. */
function textsIn(frame: ImageData): string[] {
  try {
    return [decodeQr(frame)];
  } catch {
    return [];
  }
}
