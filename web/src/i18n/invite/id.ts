/** Indonesian: the strings for inviting a screen. */
import type { InviteStrings } from './en.ts';

export const strings: InviteStrings = {
  screenTitle: 'Pindai kode QR ini dengan ponsel Anda',
  screenSteps:
    'Buka aplikasi kamera di ponsel dan arahkan ke kode QR. Lalu pilih ruang di ponsel. Ruang itu terbuka di layar ini.',
  screenQr: 'Kode QR untuk mengundang layar ini',
  screenExpired: 'Kode QR sudah kedaluwarsa.',
  newCode: 'Tampilkan kode baru',
  answerTitle: 'Undang layar lain',
  answerHint:
    'Layar lain ingin bergabung ke salah satu ruang Anda. Pilih ruang yang akan dibuka di sana. Layar itu akan menampilkan teks dan file-nya, jadi lanjutkan hanya jika Anda memindai kode QR dari layar yang Anda percayai.',
  noRooms: 'Tidak ada ruang terbaru di perangkat ini. Buat yang baru.',
  waitingForScreen: 'Menunggu layar…',
  answerAccepted: 'Layar sudah berada di ruang {code}',
  openHere: 'Buka ruang di sini',
  answerInvalid: 'Undangan ini tidak berlaku lagi',
  answerInvalidHint: 'Tampilkan kode baru di layar, lalu pindai.',
  answerDamaged: 'Kode QR ini tidak lengkap',
};
