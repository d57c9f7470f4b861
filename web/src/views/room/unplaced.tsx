/** Words of this device that collided with those of another: shown until they are placed or waved away. */
import { CopyButton } from '../../parts/copy-button.tsx';
import type { SharedText } from '../../room/shared-text.ts';
import { t } from '../../words/index.ts';

export function Unplaced({ text }: { text: SharedText }) {
  const passages = text.unplaced.value;

  const place = (index: number, passage: string) => {
    text.append(passage);
    text.dropUnplaced(index);
  };

  return (
    <section class="unplaced" aria-label={t('unplacedTitle')}>
      <h3>{t('unplacedTitle')}</h3>
      <p>{t('unplacedHint')}</p>
      {passages.map((passage, index) => (
        <div key={`${index}-${passage}`}>
          <pre>{passage}</pre>
          <div class="actions">
            <button type="button" class="button" onClick={() => place(index, passage)}>
              {t('addToEnd')}
            </button>
            <CopyButton text={passage} label={t('copy')} />
            <button type="button" class="button quiet" onClick={() => text.dropUnplaced(index)}>
              {t('discard')}
            </button>
          </div>
        </div>
      ))}
    </section>
  );
}
