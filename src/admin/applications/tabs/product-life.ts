// What becomes of a sign-in at a product: renewal, sign-out in both directions, a disabled user, certificates, what must exist first, and
// whether the guide was tried with the product.
import type { Application } from '../../../applications/application.ts';
import { allOf, oneOf, type PageText, sentences, t } from '../../../base/texts/text.ts';
import type { Block, Cell } from '../../console/blocks.ts';
import { demandsOf, rolesThatCount } from '../presets/demands.ts';
import type { ProductPreset } from '../presets/products.ts';

/** The part of a guide that is about the time after its settings. */
export function productLifeBlock(application: Application, product: ProductPreset): Block {
  const { life, title, ran, checkedAgainst } = product;
  const values = { product: title };
  const rows: { label: PageText; value: Cell }[] = [
    { label: t('console.life.first'), value: whatMustExist(application, product) },
    {
      label: t('console.life.renewal'),
      value:
        typeof life.renews === 'string'
          ? t('console.life.renewal-setting', { ...values, setting: life.renews })
          : t('console.life.renewal-text', { ...values, renews: yesOrNo(life.renews) }),
    },
    { label: t('console.life.session', values), value: sessionOf(product) },
    {
      label: t('console.life.sign-out-here'),
      value: t('console.life.sign-out-here-text', { ...values, notified: yesOrNo(hasLogoutAddress(application)) }),
    },
    {
      label: t('console.life.sign-out-there', values),
      value: t('console.life.sign-out-there-text', { ...values, reach: life.signOut }),
    },
    { label: t('console.life.disabled'), value: disabledText(application, product) },
    { label: t('console.life.certificates'), value: certificatesText(product) },
    {
      label: t('console.life.tried'),
      value: ran
        ? t('console.life.ran', ran)
        : sentences([t('console.life.not-run', values), t('console.life.checked', { documents: checkedAgainst })]),
    },
  ];
  return { kind: 'facts', title: t('console.life.title', values), rows };
}

const yesOrNo = (isSo: boolean) => (isSo ? 'yes' : 'no');

/** Whether a sign-out here reaches the application: by a logout token, in a frame, or by a LogoutRequest through the browser. */
function hasLogoutAddress(application: Application): boolean {
  const { protocol, metadata } = application;
  if (protocol === 'saml') return (metadata.slo ?? []).length > 0;
  return canBeNotified(application) || metadata.frontchannel_logout_uri !== undefined;
}

/** Whether the server can end the session of the product without a browser, so also for a disabled person. */
function canBeNotified({ protocol, metadata }: Application): boolean {
  return protocol === 'oidc' && metadata.backchannel_logout_uri !== undefined;
}

function whatMustExist({ metadata }: Application, product: ProductPreset): PageText {
  const roles = rolesThatCount(product, metadata);
  const demands = demandsOf(product).map(({ demand, isRejected }) =>
    t('console.tabs.step.demand-text', {
      demand,
      product: product.title,
      roles: oneOf(roles),
      end: isRejected ? 'rejected' : 'none',
    }),
  );
  const optional = (product.roles ?? []).length > 0 && !product.demands?.role;
  const named = optional
    ? [t('console.life.roles', { roles: allOf((product.roles ?? []).map(({ name }) => name)) })]
    : [];
  const all = [...demands, ...named, ...(product.life.first ? [product.life.first] : [])];
  return all.length > 0 ? sentences(all) : t('console.life.nothing-first');
}

function sessionOf({ life: { session } }: ProductPreset): Cell {
  if (session === 'as-token') return t('console.life.session-as-token');
  if (session === 'as-assertion') return t('console.life.session-as-assertion');
  if (session === 'endless') return t('console.life.session-endless');
  return { text: session, code: true };
}

function disabledText(application: Application, { life, title }: ProductPreset): PageText {
  if (canBeNotified(application)) return t('console.life.disabled-notified', { product: title });
  if (life.session === 'endless') return t('console.life.disabled-endless', { product: title });
  return t('console.life.disabled-text', { product: title, renews: yesOrNo(life.renews !== false) });
}

function certificatesText({ life, title }: ProductPreset): PageText {
  const { certificates, http } = life;
  if (certificates === 'none') return t('console.life.no-calls', { product: title });
  if (certificates === 'public') return t('console.life.public-only', { product: title });
  const values = { product: title };
  return sentences([
    certificates === 'system'
      ? t('console.life.system-trust', values)
      : t('console.life.trust-setting', { setting: certificates }),
    typeof http === 'string'
      ? t('console.life.http-setting', { ...values, setting: http })
      : t('console.life.http', { ...values, accepted: yesOrNo(http === true) }),
  ]);
}
