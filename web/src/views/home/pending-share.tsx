/** Tells the user that content shared from another app still needs a room. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { basePath } from '../../base-path.ts';
import { Icon } from '../../components/icon.tsx';
import { t } from '../../i18n/strings.ts';
import { navigate } from '../../router.ts';
import { shareCacheOf } from '../../share/share-cache.ts';

export function PendingShare() {
  const isPending = useSignal(false);
  useEffect(() => {
    if (!('caches' in window)) return;
    void caches.has(shareCacheOf(basePath)).then((has) => {
      isPending.value = has;
    });
  }, []);
  if (!isPending.value) return null;
  return (
    <p class="alert" role="status">
      <Icon name="share" />
      <span>{t('sharePending')}</span>
      <button type="button" class="button" onClick={() => navigate('/share')}>
        {t('chooseRoom')}
      </button>
    </p>
  );
}
