/** Indonesian: the strings for encrypted rooms. */
import type { EncryptionStrings } from './en.ts';

export const strings: EncryptionStrings = {
  keyTitle: 'Masukkan kunci untuk ruang {code}',
  keyHint: 'Ruang ini terenkripsi. Minta kunci, atau link yang berisi kunci, kepada orang yang membuatnya.',
  keyHintOwn:
    'Anda membuat ruang ini di perangkat ini, tetapi tidak menyimpan kuncinya. Cari kunci di perangkat lain dalam ruang, atau di link yang Anda bagikan.',
  keyLabel: 'Kunci atau link ruang',
  openRoom: 'Buka ruang',
  keyChecking: 'Memeriksa kunci…',
  keyWrong: 'Kunci salah. Ini kunci untuk ruang lain.',
  keyWrongTriesLeft: { other: 'Kunci salah. Tersisa {n} percobaan.' },
  keyMistyped: 'Ada salah ketik pada kunci. Bandingkan dengan aslinya.',
  keyMalformed: 'Kunci terdiri dari 16 huruf dan angka, misalnya H4T9-WZ3B-NQ6Y-RC88.',
  keyLocked: 'Terlalu banyak kunci salah. Coba lagi dalam {time}.',
  encrypted: 'Ruang ini terenkripsi',
  encryptedWhat:
    'Teks, file, dan nama dienkripsi di perangkat Anda. Server menyimpannya, tetapi tidak dapat membacanya.',
  encryptedWho:
    'Siapa pun yang memiliki kunci dapat membaca dan mengubah semuanya. Kunci yang hilang tidak dapat dipulihkan.',
  encryptedLimits:
    'Server tetap melihat ukuran, waktu, dan alamat jaringan. Browser Anda juga menjalankan halaman yang dikirim server ini. Jika Anda tidak memercayai server untuk itu, gunakan command line.',
  roomKey: 'Kunci ruang',
  copyKey: 'Salin kunci',
  keepKey: 'Ingat kunci di perangkat ini',
  keepKeyHint: 'Jika tidak, Anda memerlukan kunci lagi setelah menutup tab ini.',
  keepNewKeyHint: 'Nonaktifkan di komputer bersama. Anda lalu memerlukan kunci untuk membuka ruang lagi.',
  leaveKeyTitle: 'Keluar tanpa kunci?',
  leaveKeyHint:
    'Tidak ada perangkat lain di ruang ini, dan perangkat ini tidak mengingat kuncinya. Tanpa kunci atau link yang berisi kunci, tidak ada yang dapat membuka ruang lagi.',
  leaveKeyKeep: 'Ingat kunci dan keluar',
  draftKept: 'Perubahan yang belum terkirim masih ada di perangkat ini.',
  linkHasKey: 'Link dan kode QR berisi kunci. Browser yang membuka link menyimpannya dalam histori.',
  typeKey: 'Ketik kunci saja',
  typeKeyHint:
    'Di komputer bersama, buka {host} dan masukkan kode, lalu kunci. Dengan begitu, histori tidak berisi kunci.',
  inviteKeyHint: 'Pindai kode QR, atau buka {host} di perangkat lain dan masukkan kode serta kunci.',
  keyAttempts: { other: 'Seseorang memasukkan kunci yang salah {n} kali.' },
  fileChanged: 'File ini berubah sejak upload dimulai. Tambahkan lagi.',
  fileDamaged: 'File ini rusak dan tidak dapat didekripsi.',
  fileInArchiveDamaged: '{name} rusak dan tidak dapat didekripsi.',
  nothingSaved: 'Tidak ada yang disimpan.',
  decrypting: 'Mendekripsi…',
  cancelDownload: 'Batalkan download {name}',
  tooLargeToSave:
    'Browser ini tidak dapat menyimpan file terenkripsi di atas {size}. Gunakan Chrome atau Edge di komputer, atau baris perintah.',
  tooLargeToShow: 'File ini terlalu besar untuk ditampilkan di sini. Download file ini.',
  rollbackTitle: 'Server mengirim teks yang lebih lama',
  rollbackHint:
    'Perangkat ini sudah melihat versi yang lebih baru. Server mungkin dipulihkan dari cadangan, atau seseorang menyembunyikan perubahan dari Anda.',
  forkTitle: 'Server mengirim teks yang berbeda',
  forkHint:
    'Teks ini tidak melanjutkan versi yang telah dilihat perangkat ini. Seseorang mungkin telah mengganti perubahan di ruang ini.',
  wordsMissing:
    'Kata-kata yang Anda tulis tidak ada lagi di teks. Seseorang menghapusnya, atau server kehilangan kata-kata itu.',
  damagedTitle: 'Data ruang ini rusak',
  damagedHint:
    'Data tidak dapat didekripsi karena diubah di server atau dienkripsi dengan kunci lain. Tidak ada yang ditimpa.',
  notEncryptedTitle: 'Ruang ini tidak terenkripsi',
  notEncryptedHint:
    'Ruang ini seharusnya terenkripsi, tetapi menurut server tidak. Mungkin ada yang mencoba membaca tulisan Anda. Tidak ada yang dikirim. Periksa kode dan alamat halaman ini.',
  openAnyway: 'Tetap buka',
  openAnywayHint: 'Salin teks Anda dulu. Perubahan yang belum terkirim akan hilang.',
};
