// The groups of a user at an OAuth 2.0 upstream: in the answer with the user, or in a list of their own.
import { z } from 'zod';
import type { OAuth2Connection } from '../../connections/connection.ts';
import { claimAt, groupNames, textOf } from '../accounts/mapping.ts';
import { FederationError } from '../faults.ts';
import type { UpstreamIdentity } from '../upstream.ts';

const listSchema = z.array(z.union([z.string(), z.record(z.string(), z.unknown())]));
const NOTHING = { names: [], isComplete: false };

/**
 * With `groups_url`, `groups_claim` is the path of the name in each entry of the list; entries of text need none. A list that the
 * token may not read, that has another page (RFC 8288) or another form, is incomplete and changes no role.
 * @param request calls the API; throws FederationError for a status that is not 2xx
 */
export async function groupsOf(
  { groups_url: url, groups_claim: path }: OAuth2Connection['settings'],
  user: Record<string, unknown>,
  request: (url: string) => Promise<Response>,
): Promise<UpstreamIdentity['groups']> {
  if (url === undefined)
    return path === undefined ? undefined : { names: groupNames(claimAt(user, path)) ?? [], isComplete: true };
  try {
    const response = await request(url);
    const list = listSchema.safeParse(await response.json().catch(() => undefined));
    if (!list.success || /;\s*rel="?next"?/i.test(response.headers.get('link') ?? '')) return NOTHING;
    const names = list.data.map((one) => (typeof one === 'string' ? one : textOf(claimAt(one, path ?? 'name'))));
    return names.every((name) => name !== undefined) ? { names: [...new Set(names)], isComplete: true } : NOTHING;
  } catch (error) {
    if (error instanceof FederationError && error.code === 'upstream_answer_invalid') return NOTHING;
    throw error;
  }
}
