/** Asks for the room that content shared from another app goes to. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { t } from '../../i18n/all-strings.ts';
import { size } from '../../i18n/quantities.ts';
import { goHome, goToRoom } from '../../router.ts';
import { sendShareTo } from '../../share/destination.ts';
import { deleteShared, readShared, type SharedContent } from '../../share/shared-content.ts';
import { JoinForm } from '../home/join-form.tsx';
import { RecentRooms } from '../home/recent-rooms.tsx';
import { StartForm } from '../home/start-form.tsx';
import { MessagePage } from '../message-page.tsx';
import '../../style/home.css';

export function SharePage() {
  const shared = useSignal<SharedContent | undefined>(undefined);
  useEffect(() => {
    void readShared().then((found) => {
      shared.value = found;
    });
  }, []);
  if (!shared.value) return null;
  const { id, text, files } = shared.value;
  if (text === '' && files.length === 0)
    return <MessagePage title={t('nothingShared')}>{t('nothingSharedHint')}</MessagePage>;

  const onChosen = (code: string) => {
    sendShareTo(code, id);
    goToRoom(code);
  };
  return (
    <div class="home">
      <h1>{t('shareTitle')}</h1>
      <section class="card shared-content">
        {text && <pre dir="auto">{text}</pre>}
        {files.map((file) => (
          <p key={file}>
            <bdi>{file.name}</bdi> · {size(file.size)}
          </p>
        ))}
      </section>
      <RecentRooms onJoin={onChosen} />
      <div class="home-cards">
        <StartForm onStart={onChosen} />
        <JoinForm onJoin={onChosen} />
      </div>
      <button
        type="button"
        class="button quiet"
        onClick={() => {
          void deleteShared(id).then(goHome);
        }}
      >
        {t('discard')}
      </button>
    </div>
  );
}
