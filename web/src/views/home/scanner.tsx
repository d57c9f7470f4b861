/** Scans the QR code of a room, or of a screen that asks to be invited, with the camera. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { RoomCode } from '../../../../src/client/index.ts';
import { Dialog } from '../../components/dialog.tsx';
import { takeRoom } from '../../device/room-keys.ts';
import { t } from '../../i18n/all-strings.ts';
import { navigate } from '../../router.ts';
import { createQrReader } from './qr-reader.ts';

interface Props {
  onFound: (code: string) => void;
  onClose: () => void;
}

/** Between two frames, so that a phone stays cool. */
const scanIntervalMs = 200;

export function Scanner({ onFound, onClose }: Props) {
  const video = useRef<HTMLVideoElement>(null);
  const problem = useSignal('');
  useEffect(() => {
    const end = new AbortController();
    scanVideo(video.current as HTMLVideoElement, end.signal).then(
      (found) => found && open(found),
      () => {
        // With a picture from the camera, only the decoder can be missing.
        problem.value = t(video.current?.videoWidth ? 'loadFailed' : 'cameraBlocked');
      },
    );
    return () => end.abort();
  }, []);

  function open({ code, invitation }: Found): void {
    if (invitation) navigate(`/invite${invitation}`);
    else if (code) onFound(code);
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

interface Found {
  code?: RoomCode | undefined;
  /** The fragment of the link, with `#`. */
  invitation?: string | undefined;
}

/** The first room code or invitation that the camera sees; undefined if aborted. */
async function scanVideo(video: HTMLVideoElement, signal: AbortSignal): Promise<Found | undefined> {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
  try {
    video.srcObject = stream;
    await video.play();
    const read = await createQrReader(signal);
    while (!signal.aborted) {
      const found = (await read(video)).map(parse).find(({ code, invitation }) => code || invitation);
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, scanIntervalMs));
    }
    return undefined;
  } finally {
    for (const track of stream.getTracks()) track.stop();
  }
}

function parse(text: string): Found {
  const invitation = /^https?:\/\/[^#]+\/invite(#.+)$/.exec(text)?.[1];
  return { invitation, code: takeRoom(text) };
}
