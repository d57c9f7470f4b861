/** Scans the QR code of a room, or of a screen that asks to be invited, with the camera. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Dialog } from '../../components/dialog.tsx';
import { takeRoom } from '../../device/recent-rooms.ts';
import { t } from '../../i18n/all-strings.ts';
import { trustedScriptUrl } from '../../page-settings.ts';
import { navigate } from '../../router.ts';
import workerUrl from './qr-worker.ts?worker&url';

/** Between two frames, so that a phone stays cool. */
const scanIntervalMs = 200;

export function Scanner({ onFound, onClose }: { onFound: (code: string) => void; onClose: () => void }) {
  const video = useRef<HTMLVideoElement>(null);
  const problem = useSignal('');
  useEffect(() => {
    const end = new AbortController();
    scanVideo(video.current as HTMLVideoElement, end.signal, open).catch(() => {
      // With a picture from the camera, only the decoder can be missing.
      problem.value = t(video.current?.videoWidth ? 'loadFailed' : 'cameraBlocked');
    });
    return () => end.abort();
  }, []);

  /** Returns whether it is the code of a room or of an invitation. */
  function open(text: string): boolean {
    const invitation = /^https?:\/\/[^#]+\/invite(#.+)$/.exec(text)?.[1];
    const code = takeRoom(text);
    if (invitation) navigate(`/invite${invitation}`);
    else if (code) onFound(code);
    return Boolean(invitation ?? code);
  }

  return (
    <Dialog title={t('scan')} onClose={onClose}>
      {problem.value ? (
        <p role="alert">{problem.value}</p>
      ) : (
        <div class="scanner">
          <video ref={video} playsInline muted />
        </div>
      )}
      <p class="aside">{t('scanHint')}</p>
    </Dialog>
  );
}

/** Returns when `open` has accepted the text of a QR code, or the signal aborts. */
async function scanVideo(video: HTMLVideoElement, signal: AbortSignal, open: (text: string) => boolean): Promise<void> {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
  try {
    video.srcObject = stream;
    await video.play();
    const read = await createQrReader(signal);
    while (!signal.aborted) {
      if ((await read(video)).some(open)) return;
      await new Promise((resolve) => setTimeout(resolve, scanIntervalMs));
    }
  } finally {
    for (const track of stream.getTracks()) track.stop();
  }
}

/** Returns the texts of the QR codes in the current frame. */
type ReadQr = (video: HTMLVideoElement) => Promise<string[]>;

/** TypeScript has no declaration of it yet. */
declare const BarcodeDetector: {
  new (options: { formats: string[] }): { detect(source: HTMLVideoElement): Promise<{ rawValue: string }[]> };
  getSupportedFormats(): Promise<string[]>;
};

/** Enough for a QR code that fills a third of the frame, and decoded within a few milliseconds. */
const maxSide = 720;

/** Reads QR codes in a video: with the browser's detector, or with a decoder in a worker if it has none. */
async function createQrReader(signal: AbortSignal): Promise<ReadQr> {
  // Some browsers have the detector but cannot read QR codes with it.
  const formats = 'BarcodeDetector' in window ? await BarcodeDetector.getSupportedFormats() : [];
  if (!formats.includes('qr_code')) return workerReader(signal);
  const detector = new BarcodeDetector({ formats: ['qr_code'] });
  return async (video) => (await detector.detect(video)).map(({ rawValue }) => rawValue);
}

/** One frame at a time: the worker answers each before the next is sent. */
function workerReader(signal: AbortSignal): ReadQr {
  const worker = new Worker(trustedScriptUrl(workerUrl), { type: 'module' });
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const failed = new Promise<never>((_, reject) => (worker.onerror = reject));
  const aborted = new Promise<string[]>((resolve) => signal.addEventListener('abort', () => resolve([])));
  signal.addEventListener('abort', () => worker.terminate());

  const decode = (image: ImageData) =>
    new Promise<string[]>((resolve) => {
      worker.onmessage = ({ data }: MessageEvent<string[]>) => resolve(data);
      worker.postMessage(image, [image.data.buffer]);
    });
  return async (video) => {
    const image = context && frameOf(video, context);
    return image ? Promise.race([decode(image), aborted, failed]) : [];
  };
}

/** The square in the middle, which is the part that the page shows. Undefined before the first frame. */
function frameOf(video: HTMLVideoElement, context: CanvasRenderingContext2D): ImageData | undefined {
  const { videoWidth, videoHeight } = video;
  const side = Math.min(videoWidth, videoHeight);
  if (side === 0) return undefined;
  const scaled = Math.min(side, maxSide);
  const { canvas } = context;
  if (canvas.width !== scaled) canvas.width = canvas.height = scaled;
  context.drawImage(video, (videoWidth - side) / 2, (videoHeight - side) / 2, side, side, 0, 0, scaled, scaled);
  return context.getImageData(0, 0, scaled, scaled);
}
