// What the pages of APIs share: their addresses, permissions and dependencies.
import type { Frame } from '../console/frame.ts';
import type { ResourceAdmin } from './actions.ts';

export interface ApiPagesDependencies {
  frame: Frame;
  resources: ResourceAdmin;
  /** The path of the configuration file. */
  configFile: string | undefined;
}

export const HOME = '/admin/apis';
export const READ = 'gatehouse.applications:read' as const;
export const WRITE = 'gatehouse.applications:write' as const;

export const pathOf = (identifier: string) => `${HOME}/${encodeURIComponent(identifier)}`;
