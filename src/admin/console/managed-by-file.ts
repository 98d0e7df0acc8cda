// What the pages say about what the configuration file declares: it is displayed, and not changed here until it is taken out of the file.
import { type PageText, t } from '../../base/texts/text.ts';
import type { FileEntry } from '../../config-file/release.ts';
import { type Need, RELEASE } from '../../people/rbac/rights.ts';
import type { ConsoleServices } from '../console-services.ts';
import type { Declared } from '../resource.ts';
import type { Block, Mark } from './blocks.ts';
import type { FormRoute } from './pages.ts';
import type { Sent } from './row-buttons.ts';

/** Beside the title, or in a list. */
export const FILE_TAG: Mark & { icon: string } = { text: t('console.shared.file-tag'), icon: 'lock' };

/**
 * Names the file, and what to do next.
 *
 * @param path of the configuration file; undefined when the server runs without one now
 * @param what is declared; of settings, those that the page displays locked
 * @param home of an entry that the administrator may take out of the file: its page, above that of `releaseQuestion`
 * @param names of settings, which are ticked there
 */
export function fileNotice(
  path: string | undefined,
  what: Declared,
  home?: string | false,
  names: readonly string[] = [],
): Block {
  const text = path ? t(`console.shared.file-notice.${what}`, { path }) : t(`console.shared.file-unused.${what}`);
  const query = new URLSearchParams(names.map((name) => ['names', name]));
  const href = names.length > 0 ? `${home}/release?${query}` : `${home}/release`;
  const link = home && { label: t('console.shared.manage-here'), href };
  return { kind: 'text', tone: 'notice', text, ...(link && { link }) };
}

/** The page that asks before entries are taken out of the file. @param write what takes the right to change them */
export function releaseQuestion<Item>(
  { admin: { configuration }, config: { configFile } }: ConsoleServices,
  write: readonly Need[],
  {
    entriesOf,
    home,
  }: { entriesOf(item: Item, sent: Sent): FileEntry[]; home(item: Item): { href: string; label: PageText } },
): FormRoute<Item> {
  return {
    needs: [RELEASE, ...write],
    isReturning: true,
    title: (item) => t('console.shared.release-title', { name: home(item).label }),
    back: home,
    lead: () =>
      configFile ? t('console.shared.release-lead', { path: configFile }) : t('console.shared.release-lead-unused'),
    button: t('console.shared.manage-here'),
    look: 'primary',
    async submit({ by, subject }, sent) {
      await configuration.release(entriesOf(subject, sent), by);
      return { to: home(subject).href, notice: t('console.shared.released') };
    },
  };
}
