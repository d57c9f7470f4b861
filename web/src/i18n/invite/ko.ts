/** Korean: the strings for inviting a screen. */
import type { InviteStrings } from './en.ts';

export const strings: InviteStrings = {
  screenTitle: '휴대전화로 이 QR 코드를 스캔하세요',
  screenSteps: '휴대전화의 카메라 앱을 QR 코드에 대고 휴대전화에서 방을 선택하세요. 선택한 방이 이 화면에서 열립니다.',
  screenQr: '이 화면을 초대하는 QR 코드',
  screenExpired: 'QR 코드가 만료되었습니다.',
  newCode: '새 코드 표시',
  answerTitle: '다른 화면 초대',
  answerHint:
    '다른 화면에서 내 방에 참여하려고 합니다. 그 화면에서 열 방을 선택하세요. 방의 텍스트와 파일이 화면에 표시되므로 신뢰할 수 있는 화면의 QR 코드를 스캔한 경우에만 계속하세요.',
  noRooms: '이 기기에 최근 방이 없습니다. 새 방을 만드세요.',
  waitingForScreen: '화면을 기다리는 중…',
  answerAccepted: '화면이 {code} 방에 참여했습니다',
  openHere: '여기에서 방 열기',
  answerInvalid: '이 초대는 더 이상 유효하지 않습니다',
  answerInvalidHint: '화면에 새 코드를 표시하고 스캔하세요.',
  answerDamaged: '이 QR 코드는 불완전합니다',
};
