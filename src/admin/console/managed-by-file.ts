// What the pages say about what the configuration file declares: it is displayed, and not changed here.
import { t } from '../../base/texts/text.ts';
import type { Block, Mark } from './blocks.ts';

/** Beside the title, or in a list. */
export const FILE_TAG: Mark & { icon: string } = { text: t('console.shared.file-tag'), icon: 'lock' };

type Declared = 'user' | 'role' | 'group' | 'connection' | 'api' | 'application' | 'settings';

/**
 * Names the file, and what to do next.
 *
 * @param path of the configuration file; undefined when the server runs without one now
 * @param what is declared; of settings, those that the page displays locked
 */
export function fileNotice(path: string | undefined, what: Declared): Block {
  const text = path ? t(`console.shared.file-notice.${what}`, { path }) : t(`console.shared.file-unused.${what}`);
  return { kind: 'text', tone: 'notice', text };
}
