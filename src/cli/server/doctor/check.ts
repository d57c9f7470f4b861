/** One check of `poproom doctor`. */
import type { Config, Inspection } from '../../../config.ts';
import type { Finding } from './finding.ts';

export interface DoctorContext {
  settings: Inspection;
  /** Where clients reach the server: from --url, from the settings, or on this machine. */
  address: ServerAddress | undefined;
  apiKey: string | undefined;
}

export interface ServerAddress {
  url: string;
  from: '--url' | 'POPROOM_PUBLIC_URL' | 'PORT';
}

/** Returns no findings if the check does not apply. */
export type RunCheck = (config: Config, context: DoctorContext) => Promise<readonly Finding[]> | readonly Finding[];

export interface Check {
  name: string;
  /** Required settings. The check is skipped if one is invalid, which is reported separately. */
  needs: readonly (keyof Config)[];
  run: RunCheck;
}
