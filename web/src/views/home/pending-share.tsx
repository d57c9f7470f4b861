/** Says that something shared from another app still waits for a room. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { go } from '../../address.ts';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n/index.ts';
import { shareCache } from '../../share/share-cache.ts';

export function PendingShare() {
  const waits = useSignal(false);
  useEffect(() => {
    if (!('caches' in window)) return;
    void caches.has(shareCache).then((has) => {
      waits.value = has;
    });
  }, []);
  if (!waits.value) return null;
  return (
    <p class="alert" role="status">
      <Icon name="share" />
      <span>{t('sharePending')}</span>
      <button type="button" class="button" onClick={() => go('/share')}>
        {t('chooseRoom')}
      </button>
    </p>
  );
}
