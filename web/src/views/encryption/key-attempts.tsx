/** How often others have entered a wrong key. */
import { encryptionText } from '../../i18n/encryption-strings.ts';

export const KeyAttempts = ({ n }: { n: number }) => <>{encryptionText('keyAttempts', { n })}</>;
