/** Files of encrypted rooms: they are decrypted in the page, to show or save them. Loaded with the first of them. */

import { encryptionText } from '../../i18n/encryption-strings.ts';
import { addErrorMessages } from '../../i18n/error-message.ts';

export { loadEncryptionStrings } from '../../i18n/encryption-strings.ts';
export { saveFiles } from './downloads.ts';
export { SealedDownloads } from './sealed-downloads.tsx';
export { SealedMedia } from './sealed-media.tsx';
export { SealedThumbnail } from './sealed-thumbnail.tsx';

addErrorMessages({ DATA_DAMAGED: () => encryptionText('fileDamaged') });
