/** Japanese: the strings for encrypted rooms. */
import type { EncryptionStrings } from './en.ts';

export const strings: EncryptionStrings = {
  keyTitle: 'ルーム {code} のキーを入力',
  keyHint: 'このルームは暗号化されています。キー、またはキーを含むリンクを、ルームを作成した人に確認してください。',
  keyLabel: 'ルームのキーまたはリンク',
  openRoom: 'ルームを開く',
  keyChecking: 'キーを確認しています…',
  keyWrong: 'キーが正しくありません。別のルームのキーです。',
  keyWrongTriesLeft: { other: 'キーが正しくありません。あと {n} 回入力できます。' },
  keyMistyped: 'キーに入力ミスがあります。元のキーと比べてください。',
  keyMalformed: 'キーは H4T9-WZ3B-NQ6Y-RC88 のような 16 文字の英数字です。',
  keyLocked: 'キーの入力を何度も間違えました。{time}後にもう一度お試しください。',
  encrypted: 'このルームは暗号化されています',
  encryptedWhat:
    'テキスト、ファイル、名前はお使いのデバイス上で暗号化されます。サーバーは保存しますが、内容を読むことはできません。',
  encryptedWho: 'キーを知っている人は、ここにあるすべてを読み、変更できます。キーを失うと、誰にも復元できません。',
  encryptedLimits:
    'サイズ、時刻、ネットワークアドレスはサーバーから見えます。また、ブラウザはこのサーバーが送るページを実行します。その点でサーバーを信頼できない場合は、コマンドラインをお使いください。',
  roomKey: 'ルームキー',
  copyKey: 'キーをコピー',
  keepKey: 'このデバイスにキーを保存する',
  keepKeyHint: '保存しない場合、タブを閉じるとこのデバイスから消えます。',
  linkHasKey: 'リンクと QR コードにはキーが含まれます。',
  keyAttempts: { other: '間違ったキーが {n} 回入力されました。' },
  fileDamaged: 'このファイルは破損しているため復号できません。',
  fileInArchiveDamaged: '{name} は破損しているため復号できません。',
  nothingSaved: '何も保存されていません。',
  decrypting: '復号しています…',
  cancelDownload: '{name} のダウンロードをキャンセル',
  tooLargeToSave:
    'このブラウザでは {size} を超える暗号化ファイルを保存できません。パソコンの Chrome か Edge、またはコマンドラインをお使いください。',
  tooLargeToShow: 'このファイルは大きすぎるためここに表示できません。ダウンロードしてください。',
  rollbackTitle: 'サーバーが古いテキストを送信しました',
  rollbackHint:
    'このデバイスはより新しいバージョンを受信済みです。サーバーがバックアップから復元されたか、誰かが変更を隠している可能性があります。',
  forkTitle: 'サーバーが異なるテキストを送信しました',
  forkHint:
    'このデバイスが受信したバージョンの続きではありません。誰かがこのルームの変更を差し替えた可能性があります。',
  damagedTitle: 'このルームのデータは破損しています',
  damagedHint: '復号できませんでした。サーバー上で変更されたか、別のキーで暗号化されています。上書きはされていません。',
  notEncryptedTitle: 'このルームは暗号化されていません',
  notEncryptedHint:
    'リンクにはキーがありますが、サーバーによるとルームは暗号化されていません。何も送信されていません。リンクを確認してください。',
  openAnyway: 'それでも開く',
  openAnywayHint: '先にテキストをコピーしてください。送信されていない変更は失われます。',
};
