/** Korean: the strings for encrypted rooms. */
import type { EncryptionStrings } from './en.ts';

export const strings: EncryptionStrings = {
  keyTitle: '방 {code}의 키 입력',
  keyHint: '이 방은 암호화되어 있습니다. 방을 만든 사람에게 키 또는 키가 포함된 링크를 요청하세요.',
  keyHintOwn:
    '이 기기에서 이 방을 만들었지만 키를 저장하지 않았습니다. 방에 있는 다른 기기나 공유한 링크에서 키를 확인하세요.',
  keyLabel: '방 키 또는 링크',
  openRoom: '방 열기',
  keyChecking: '키 확인 중…',
  keyWrong: '키가 잘못되었습니다. 다른 방의 키입니다.',
  keyWrongTriesLeft: { other: '키가 잘못되었습니다. {n}회 남았습니다.' },
  keyMistyped: '키에 오타가 있습니다. 원본과 비교하세요.',
  keyMalformed: '키는 H4T9-WZ3B-NQ6Y-RC88과 같은 16자리 영문자와 숫자입니다.',
  keyLocked: '키를 너무 많이 틀렸습니다. {time} 후에 다시 시도하세요.',
  encrypted: '이 방은 암호화되어 있습니다',
  encryptedWhat: '텍스트, 파일, 이름은 기기에서 암호화됩니다. 서버는 저장만 하고 읽을 수 없습니다.',
  encryptedWho:
    '키가 있는 사람은 누구나 여기의 모든 내용을 읽고 바꿀 수 있습니다. 잃어버린 키는 아무도 복구할 수 없습니다.',
  encryptedLimits:
    '서버는 여전히 크기, 시간, 네트워크 주소를 볼 수 있습니다. 또한 브라우저는 이 서버가 보낸 페이지를 실행합니다. 이 점에서 서버를 신뢰하지 않는다면 명령줄을 사용하세요.',
  roomKey: '방 키',
  copyKey: '키 복사',
  keepKey: '이 기기에 키 기억하기',
  keepKeyHint: '기억하지 않으면 이 탭을 닫은 후 키가 다시 필요합니다.',
  keepNewKeyHint: '공용 컴퓨터에서는 끄세요. 그러면 방을 다시 열 때 키가 필요합니다.',
  leaveKeyTitle: '키 없이 나갈까요?',
  leaveKeyHint:
    '이 방에 다른 기기가 없고 이 기기는 키를 기억하지 않습니다. 키나 키가 포함된 링크가 없으면 아무도 방을 다시 열 수 없습니다.',
  leaveKeyKeep: '키 기억하고 나가기',
  draftKept: '전송되지 않은 변경 내용이 아직 이 기기에 있습니다.',
  linkHasKey: '링크와 QR 코드에는 키가 포함되어 있습니다. 링크를 연 브라우저의 기록에 링크가 남습니다.',
  typeKey: '대신 키 입력하기',
  typeKeyHint:
    '공용 컴퓨터에서는 {host}을(를) 열고 코드를 입력한 다음 키를 입력하세요. 그러면 기록에 키가 남지 않습니다.',
  inviteKeyHint: 'QR 코드를 스캔하거나 다른 기기에서 {host}을(를) 열고 코드와 키를 입력하세요.',
  keyAttempts: { other: '누군가 잘못된 키를 {n}회 입력했습니다.' },
  fileChanged: '업로드가 시작된 후 파일이 변경되었습니다. 다시 추가하세요.',
  fileDamaged: '이 파일은 손상되어 복호화할 수 없습니다.',
  fileInArchiveDamaged: '{name} 파일은 손상되어 복호화할 수 없습니다.',
  nothingSaved: '아무것도 저장되지 않았습니다.',
  decrypting: '복호화하는 중…',
  cancelDownload: '{name} 다운로드 취소',
  tooLargeToSave:
    '이 브라우저는 {size}를 초과하는 암호화된 파일을 저장할 수 없습니다. 컴퓨터에서 Chrome이나 Edge 또는 명령줄을 사용하세요.',
  tooLargeToShow: '이 파일은 너무 커서 여기에 표시할 수 없습니다. 대신 다운로드하세요.',
  rollbackTitle: '서버가 이전 텍스트를 보냈습니다',
  rollbackHint:
    '이 기기는 더 새로운 버전을 이미 받았습니다. 서버가 백업에서 복원되었거나 누군가 변경 사항을 숨기고 있을 수 있습니다.',
  forkTitle: '서버가 다른 텍스트를 보냈습니다',
  forkHint: '이 기기가 받은 버전에서 이어지지 않습니다. 누군가 이 방의 변경 사항을 바꿔치기했을 수 있습니다.',
  wordsMissing: '내가 쓴 단어가 텍스트에 없습니다. 누군가 삭제했거나 서버에서 유실되었을 수 있습니다.',
  damagedTitle: '이 방의 데이터가 손상되었습니다',
  damagedHint: '복호화할 수 없습니다. 서버에서 변경되었거나 다른 키로 암호화되었습니다. 아무것도 덮어쓰지 않았습니다.',
  notEncryptedTitle: '이 방은 암호화되어 있지 않습니다',
  notEncryptedHint:
    '이 방은 암호화되어 있어야 하지만 서버는 그렇지 않다고 합니다. 누군가 입력 내용을 읽으려 할 수 있습니다. 아무것도 전송되지 않았습니다. 코드와 이 페이지의 주소를 확인하세요.',
  openAnyway: '그래도 열기',
  openAnywayHint: '먼저 텍스트를 복사하세요. 전송되지 않은 변경 사항은 사라집니다.',
};
