/** The strings for inviting a screen. They are loaded with its views, which keeps the first view small. */
import { language } from './index.ts';
import { strings as ar } from './invite/ar.ts';
import { strings as de } from './invite/de.ts';
import { strings as en, type InviteStrings } from './invite/en.ts';
import { strings as es } from './invite/es.ts';
import { strings as fr } from './invite/fr.ts';
import { strings as hi } from './invite/hi.ts';
import { strings as id } from './invite/id.ts';
import { strings as it } from './invite/it.ts';
import { strings as ja } from './invite/ja.ts';
import { strings as ko } from './invite/ko.ts';
import { strings as pl } from './invite/pl.ts';
import { strings as pt } from './invite/pt.ts';
import { strings as ru } from './invite/ru.ts';
import { strings as tr } from './invite/tr.ts';
import { strings as uk } from './invite/uk.ts';
import { strings as zh } from './invite/zh.ts';
import type { Language } from './languages.ts';
import { format } from './translation.ts';

/** All languages together are smaller than the script that they are loaded with. */
const tables: Record<Language, InviteStrings> = { ar, de, en, es, fr, hi, id, it, ja, ko, pl, pt, ru, tr, uk, zh };

/** Like `t` for these strings. */
export function inviteText(key: keyof InviteStrings, values: Record<string, string | number> = {}): string {
  return format(tables[language.value][key], language.value, values);
}
