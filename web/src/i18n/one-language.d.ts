/** The modules that the build generates from the string table; see web/one-language.ts. */
declare module '*/strings.ts?language=en' {
  export const strings: Record<keyof typeof import('./strings.ts').strings, string>;
}
declare module '*/strings.ts?language=zh' {
  export { strings } from '*/strings.ts?language=en';
}
declare module '*/strings.ts?language=es' {
  export { strings } from '*/strings.ts?language=en';
}
declare module '*/strings.ts?language=de' {
  export { strings } from '*/strings.ts?language=en';
}
