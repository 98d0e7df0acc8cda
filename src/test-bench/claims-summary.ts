// The main claims that an application receives about a user, and the role that they give in a known product.

import { productOf } from '../admin/applications/presets/presets.ts';
import type { Block, Cell } from '../admin/console/blocks.ts';
import type { Application } from '../applications/application.ts';
import { type PageText, t } from '../texts/text.ts';

/**
 * @param claims of the ID token and UserInfo
 * @returns the sentence of the page, and its blocks
 */
export function claimsSummary(
  application: Application,
  claims: Readonly<Record<string, unknown>>,
): { lead: PageText; blocks: Block[] } {
  const product = productOf(application);
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : undefined);
  const roles = Array.isArray(claims.roles) ? claims.roles.map(String) : [];
  const isEmailMissing = product?.needsEmail === true && text('email') === undefined;
  const roleDescription =
    product?.roles?.find(({ name }) => roles.includes(name))?.description ?? product?.withoutRoles;
  const none: Cell = { text: t('console.test-bench.none'), tone: isEmailMissing ? 'bad' : 'plain' };
  const rows: { label: PageText; value: Cell }[] = [
    { label: t('console.test-bench.username'), value: text('preferred_username') ?? t('console.test-bench.none') },
    { label: t('console.test-bench.name'), value: text('name') ?? t('console.test-bench.none') },
    { label: t('console.test-bench.email'), value: text('email') ?? none },
    {
      label: t('console.test-bench.roles'),
      value: roles.length > 0 ? roles.join(', ') : t('console.test-bench.no-roles'),
    },
    ...(product && roleDescription
      ? [{ label: t('console.test-bench.role-in', { product: product.title }), value: roleDescription }]
      : []),
  ];
  const facts: Block = { kind: 'facts', title: t('console.test-bench.about-you'), rows };
  if (!product || !isEmailMissing) return { lead: t('console.test-bench.works.would-receive'), blocks: [facts] };
  const warning = t('console.test-bench.email-missing', { product: product.title });
  return {
    lead: t('console.test-bench.would-reject', { product: product.title }),
    blocks: [{ kind: 'text', tone: 'warning', text: warning }, facts],
  };
}
