/** Icons that only parts use which are loaded on demand. */
import { Drawing, Icon, type IconName } from './controls.tsx';

const paths = {
  archive: 'M5 4h14v16H5zM12 4v2M12 8.5v2M12 13v1M10.5 16.5h3',
  audio:
    'M9 17.5V6l10-2v11.5M6.5 15a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 2.5-2.5M16.5 13a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 2.5-2.5',
  back: 'M19 12H5M11 6l-6 6 6 6',
  document: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  erase: 'M4 16l9-10 6 5-7 8H7zM9 20h11',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  folder: 'M3 6h6l2 2.5h10V19H3z',
  history: 'M4 12a8 8 0 1 1 2.5 5.8M4 12l-1.5-2.5M4 12l2.5-1.5M12 8v4.5l3 1.5',
  mail: 'M4 6h16v12H4zM4 7l8 6 8-6',
  mono: 'M8 8l-4 4 4 4M16 8l4 4-4 4M13.5 6l-3 12',
  open: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
  phone: 'M8 3h8v18H8zM11 18h2',
  print: 'M7 9V4h10v5M7 17H4V9h16v8h-3M7 14h10v6H7z',
  read: 'M12 6.5C10 5 7 4.5 4 4.5v13c3 0 6 .5 8 2 2-1.5 5-2 8-2v-13c-3 0-6 .5-8 2zM12 6.5v13',
  screen: 'M4 5h16v11H4zM9 20h6M12 16v4',
  select: 'M4 7l1.5 1.5L8.5 5M4 16l1.5 1.5 3-3.5M12 7h8M12 16h8',
  video: 'M4 6h11v12H4zM15 10.5l5-3v9l-5-3',
} as const;

export type MoreIconName = keyof typeof paths | IconName;

/** Draws all icons. */
export function MoreIcon({ name }: { name: MoreIconName }) {
  return name in paths ? <Drawing path={paths[name as keyof typeof paths]} /> : <Icon name={name as IconName} />;
}
