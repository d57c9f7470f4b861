/** Inside a room: how others get in, who is there, the text, the files. */
import { useEffect } from 'preact/hooks';
import { notify } from '../../components/notices.tsx';
import { t } from '../../i18n/index.ts';
import { problemText } from '../../i18n/problem.ts';
import type { RoomState } from '../../room/room.ts';
import type { TextModel } from '../../room/text-model.ts';
import { shareFor } from '../../share/destination.ts';
import { Alerts } from './alerts.tsx';
import { DeleteRoom } from './delete-room.tsx';
import { Devices } from './devices.tsx';
import { DropArea } from './drop-area.tsx';
import { FilePanel } from './file-panel.tsx';
import { Invitation } from './invitation.tsx';
import { TextPanel } from './text-panel.tsx';
import { TimeLine } from './time-line.tsx';

export function Inside({ room, text }: { room: RoomState; text: TextModel }) {
  useEffect(() => {
    const problem = room.problem.value;
    if (problem) notify(problemText(problem));
    room.problem.value = undefined;
  }, [room.problem.value]);
  useEffect(() => {
    void receiveShared(room, text);
  }, [room, text]);

  return (
    <DropArea onFiles={room.uploads.add}>
      <div class="room">
        <h1 class="out-of-sight">{t('roomTitle', { code: room.code })}</h1>
        <Alerts room={room} />
        <Invitation room={room} />
        <div class="walls">
          <Devices room={room} typing={text.typing} />
          <TextPanel room={room} text={text} />
          <FilePanel room={room} />
          <footer>
            <TimeLine room={room} />
            <DeleteRoom room={room} />
          </footer>
        </div>
      </div>
    </DropArea>
  );
}

/** What another app handed over for this room: text goes to the end of the text, files among the files. */
async function receiveShared(room: RoomState, model: TextModel): Promise<void> {
  const shareId = shareFor(room.code);
  if (shareId === undefined) return;
  const { takeShared } = await import('../../share/shared-things.ts');
  const { text, files } = await takeShared(shareId);
  if (text) model.append(text);
  room.uploads.add(files);
}
