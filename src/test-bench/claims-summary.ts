// The main claims that an application receives about a user, and the role that they give in a known product.

import {
  type DemandVerdict,
  demandVerdicts,
  missingScopes,
  rolesThatCount,
  roleThere,
} from '../admin/applications/presets/demands.ts';
import type { ProductPreset } from '../admin/applications/presets/parts.ts';
import { productOf } from '../admin/applications/presets/presets.ts';
import type { Block, Cell } from '../admin/console/blocks.ts';
import type { Application } from '../applications/application.ts';
import { oneOf, type PageText, t } from '../texts/text.ts';

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
  const emailVerified = claims.email_verified === true;
  const person = { email: text('email') ?? null, emailVerified, roles, missingScopes: missingScopes(application) };
  const verdicts = product ? demandVerdicts(product, person) : [];
  const isEmailMissing = verdicts.some(({ demand, state }) => demand === 'address' && state !== 'met');
  const roleDescription = (product && roleThere(product, roles)?.description) ?? product?.withoutRoles;
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
  return { lead: demandsLead(product, verdicts), blocks: [...demandsBlocks(application, product, verdicts), facts] };
}

/** What the product would make of the sign-in. */
export function demandsLead(product: ProductPreset | undefined, verdicts: readonly DemandVerdict[]): PageText {
  const isRejected = verdicts.some(({ state }) => state === 'rejected');
  if (!product || !isRejected) return t('console.test-bench.works.would-receive');
  return t('console.test-bench.would-reject', { product: product.title });
}

/** A warning for each demand of the product that the person does not meet. */
export function demandsBlocks(
  { metadata }: Application,
  product: ProductPreset | undefined,
  verdicts: readonly DemandVerdict[],
): Block[] {
  if (!product) return [];
  const values = { product: product.title, roles: oneOf(rolesThatCount(product, metadata)) };
  return verdicts.flatMap(({ demand, state, scope }): Block[] => {
    if (state === 'met') return [];
    if (scope) return [warning(t('console.test-bench.scope-missing', { ...values, scope, end: state }))];
    if (demand === 'address') return [warning(t('console.test-bench.email-missing', values))];
    if (demand === 'verified') return [warning(t('console.test-bench.email-unverified', values))];
    if (state === 'other-roles') return [warning(t('console.test-bench.other-roles', values))];
    return [
      warning(t('console.test-bench.role-missing', { ...values, end: state === 'rejected' ? 'rejected' : 'none' })),
    ];
  });
}

const warning = (text: PageText): Block => ({ kind: 'text', tone: 'warning', text });
