/** Scans the QR code of a room with the camera. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Dialog } from '../../components/dialog.tsx';
import { t } from '../../i18n/index.ts';
import { parseCodeOrLink } from '../../router.ts';

interface Props {
  onFound: (code: string) => void;
  onClose: () => void;
}

/** TypeScript has no declaration of it yet. */
interface Detector {
  detect(source: HTMLVideoElement): Promise<{ rawValue: string }[]>;
}
declare const BarcodeDetector: new (options: { formats: string[] }) => Detector;

const scanIntervalMs = 200;

export function Scanner({ onFound, onClose }: Props) {
  const video = useRef<HTMLVideoElement>(null);
  const problem = useSignal('');
  useEffect(() => {
    const end = new AbortController();
    scanVideo(video.current as HTMLVideoElement, end.signal).then(
      (code) => code && onFound(code),
      () => {
        problem.value = t('cameraBlocked');
      },
    );
    return () => end.abort();
  }, []);

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

/** The first room code that the camera sees; undefined if aborted. */
async function scanVideo(video: HTMLVideoElement, signal: AbortSignal): Promise<string | undefined> {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
  try {
    video.srcObject = stream;
    await video.play();
    const detector = new BarcodeDetector({ formats: ['qr_code'] });
    while (!signal.aborted) {
      for (const { rawValue } of await detector.detect(video)) {
        const code = parseCodeOrLink(rawValue);
        if (code) return code;
      }
      await new Promise((resolve) => setTimeout(resolve, scanIntervalMs));
    }
    return undefined;
  } finally {
    for (const track of stream.getTracks()) track.stop();
  }
}
