/** Something was shared from another app: into which room? */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { goHome, goToRoom } from '../../address.ts';
import { t } from '../../i18n/index.ts';
import { size } from '../../i18n/quantities.ts';
import { sendShareTo } from '../../share/destination.ts';
import { forgetShared, readShared, type SharedThings } from '../../share/shared-things.ts';
import { JoinForm } from '../home/join-form.tsx';
import { RecentRooms } from '../home/recent-rooms.tsx';
import { StartForm } from '../home/start-form.tsx';
import { Outside } from '../outside.tsx';

export function SharePage() {
  const things = useSignal<SharedThings | undefined>(undefined);
  useEffect(() => {
    void readShared().then((found) => {
      things.value = found;
    });
  }, []);
  if (!things.value) return null;
  const { id, text, files } = things.value;
  if (text === '' && files.length === 0) return <Outside title={t('nothingShared')}>{t('nothingSharedHint')}</Outside>;

  const choose = (code: string) => {
    sendShareTo(code, id);
    goToRoom(code);
  };
  return (
    <div class="home">
      <h1>{t('shareTitle')}</h1>
      <section class="card shared-things">
        {text && <pre>{text}</pre>}
        {files.map((file) => (
          <p key={file}>
            {file.name} · {size(file.size)}
          </p>
        ))}
      </section>
      <RecentRooms onJoin={choose} />
      <div class="doors">
        <StartForm onStart={choose} />
        <JoinForm onJoin={choose} />
      </div>
      <button
        type="button"
        class="button quiet"
        onClick={() => {
          void forgetShared(id).then(goHome);
        }}
      >
        {t('discard')}
      </button>
    </div>
  );
}
