// What the pages say about what the configuration file declares: it is displayed, and not changed here.
import type { Block, Mark } from './blocks.ts';

/** Beside the title, or in a list. */
export const FILE_TAG: Mark & { icon: string } = { text: 'Managed by the configuration file', icon: 'lock' };

/**
 * Names the file, and what to do next.
 *
 * @param path of the configuration file; undefined when the server runs without one now
 * @param what such as `This role`
 */
export function fileNotice(path: string | undefined, what: string): Block {
  const text = path
    ? `${what} is declared in ${path}. To change it, edit that file and restart Gatehouse, or run gatehouse apply with it.`
    : `${what} was declared in a configuration file that Gatehouse no longer uses. Start it with the file to change it.`;
  return { kind: 'text', tone: 'notice', text };
}
