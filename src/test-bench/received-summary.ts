// What an application receives about a user, in words: the main claims, and what its product makes of them.

import { productOf } from '../admin/applications/presets/presets.ts';
import type { Block, Cell } from '../admin/console/blocks.ts';
import type { Application } from '../applications/application.ts';

/**
 * @param claims of the ID token and UserInfo
 * @returns the sentence of the page, and its blocks
 */
export function receivedSummary(
  application: Application,
  claims: Readonly<Record<string, unknown>>,
): { lead: string; blocks: Block[] } {
  const product = productOf(application);
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : undefined);
  const roles = Array.isArray(claims.roles) ? claims.roles.map(String) : [];
  const isEmailMissing = product?.needsEmail === true && text('email') === undefined;
  const given = product?.roles?.find(({ name }) => roles.includes(name))?.description ?? product?.withoutRoles;
  const none: Cell = { text: 'None', tone: isEmailMissing ? 'bad' : 'plain' };
  const rows: { label: string; value: Cell }[] = [
    { label: 'Username', value: text('preferred_username') ?? 'None' },
    { label: 'Name', value: text('name') ?? 'None' },
    { label: 'Email', value: text('email') ?? none },
    { label: 'Roles', value: roles.length > 0 ? roles.join(', ') : 'None' },
    ...(product && given ? [{ label: `Role in ${product.title}`, value: given }] : []),
  ];
  const facts: Block = { kind: 'facts', title: 'About you', rows };
  if (!product || !isEmailMissing)
    return { lead: 'The sign-in works. The application would receive this.', blocks: [facts] };
  const warning = `${product.title} rejects users without an email address, and you have none. Add one to your account, then test again.`;
  return {
    lead: `The sign-in works here, but ${product.title} would reject it.`,
    blocks: [{ kind: 'text', tone: 'warning', text: warning }, facts],
  };
}
