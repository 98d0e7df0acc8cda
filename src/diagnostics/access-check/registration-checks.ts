// The checks of the registration itself: with a fault in it nobody can sign in. Pure.
import { t } from '../../base/texts/text.ts';
import { type Check, failed, nameOf, passed, warning } from './check.ts';
import type { AccessFacts } from './facts.ts';

/** Those that apply to the application. */
export function registrationChecks(facts: AccessFacts): Check[] {
  const { application, registration, unsignable } = facts;
  const complete: Check = {
    id: 'registration',
    label: t('console.access-check.label.registration'),
    ...(registration ? failed(registration.text) : passed()),
  };
  if (application.protocol === 'saml')
    return [
      complete,
      { id: 'name-id', label: t('console.access-check.label.name-id'), ...nameId(facts) },
      ...(facts.cannotEncrypt
        ? [
            {
              id: 'encryption' as const,
              label: t('console.access-check.label.encryption'),
              ...failed(t('console.access-check.no-encryption', { app: application.name })),
            },
          ]
        : []),
    ];
  return [
    complete,
    { id: 'openid', label: t('console.access-check.label.openid'), ...openid(facts) },
    ...(unsignable
      ? [{ id: 'key' as const, label: t('console.access-check.label.key'), ...key(facts, unsignable) }]
      : []),
  ];
}

/** OpenID Connect Core 3.1.2.1. An OAuth 2.0 client for APIs needs no `openid`. */
function openid({ application, openid: state }: AccessFacts) {
  if (state === 'included') return passed();
  const sentence = t('console.access-check.no-openid', { app: application.name });
  return state === 'alone' ? warning(sentence) : failed(sentence);
}

/** SAML Core 8.3: what the NameID is made of. A request may ask for another format, and for AllowCreate. */
function nameId({ application, account, missingForNameId: missing }: AccessFacts) {
  const values = { app: application.name, who: nameOf(account) };
  if (missing === 'allow-create') return warning(t('console.access-check.no-allow-create', values));
  if (missing === undefined) return passed();
  return failed(
    account.email === null
      ? t('console.access-check.name-id-no-email', values)
      : t('console.access-check.name-id-unverified', values),
  );
}

/** Request objects may be left out unless the registration demands signed ones (RFC 9101 10.5). */
function key({ application }: AccessFacts, unsignable: NonNullable<AccessFacts['unsignable']>) {
  const [first] = unsignable;
  if (!first) return passed();
  const isNeeded =
    first.use === 'authentication' ||
    (application.protocol === 'oidc' && application.metadata.require_signed_request_object === true);
  const values = { app: application.name, use: first.use, alg: first.alg ?? 'none' };
  const sentence = t('console.access-check.no-key', values);
  return isNeeded ? failed(sentence) : warning(sentence);
}
