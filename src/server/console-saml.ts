// What the console needs of SAML: test sign-ins, and how a service provider is registered.

import { TEST_HOME } from '../admin/console/test-parts.ts';
import type { TestSignInNeeds } from '../admin/console/test-sign-in.ts';
import { createTestSp, newTestSpCredential } from '../admin/test-sp.ts';
import { notFound } from '../http/errors.ts';
import { acrLevel, acrValues } from '../mfa/acr.ts';
import { stableSecret } from '../platform/stable-secret.ts';
import { defaultAcs } from '../saml/acs.ts';
import { newMessageId } from '../saml/answers.ts';
import { readCertificate } from '../saml/certificates.ts';
import type { Question } from '../saml/kept-requests.ts';
import { parseServiceProviderMetadata } from '../saml/metadata-parse.ts';
import { chooseNameIdFormat } from '../saml/nameid.ts';
import { authorizationParameters } from '../saml/open-question.ts';
import type { Services } from '../services.ts';
import { type assembleSaml, samlTestContext } from './saml.ts';

type Parts = Pick<TestSignInNeeds, 'beginSaml' | 'samlAnswer'>;

export function samlTests({ config, vault }: Services, tests: ReturnType<typeof assembleSaml>['tests']): Parts {
  const { serviceProviders, keptRequests, browser } = tests;
  return {
    async beginSaml(ctx, entityId, { forceAuthn, isUnsolicited, acr }) {
      const sp = await serviceProviders.find(entityId);
      const acs = sp && defaultAcs(sp.acs);
      if (!sp || !acs)
        throw notFound({ message: 'This application is disabled, or has no address to send an answer to.' });
      const question: Question = {
        entityId,
        requestId: isUnsolicited ? undefined : newMessageId(),
        acsUrl: acs.url,
        relayState: undefined,
        nameIdFormat: chooseNameIdFormat(undefined, sp),
        mayCreateNameId: true,
        requestedContext: undefined,
        acrs: acr ? acrValues.filter((value) => acrLevel(value) >= acrLevel(acr)) : undefined,
        needsPassword: false,
        forceAuthn,
        isPassive: false,
        subjectHint: undefined,
        isTest: true,
      };
      const id = await keptRequests.keep(sp.applicationId, question, browser.remember(ctx));
      return `${config.issuer}/authorize?${new URLSearchParams(authorizationParameters(question, id))}`;
    },

    async samlAnswer(ctx, request) {
      const sealed = await keptRequests.answer(request, browser.of(ctx));
      return sealed && vault.open(sealed, samlTestContext(request)).toString();
    },
  };
}

/** The service provider in the box: its key is made when it is first needed, and shared by all instances. */
export function testServiceProvider({ config, db, keyring, now, settings, vault }: Services) {
  const { issuer } = config;
  return createTestSp({
    issuer,
    entityId: `${issuer}${TEST_HOME}/sp`,
    now,
    skewSeconds: () => settings.latest().clock_skew_seconds,
    publishedKeys: () =>
      keyring.samlCertificates().map(({ certificatePem }) => readCertificate(certificatePem).publicKey),
    async credential() {
      const make = () => newTestSpCredential(new URL(issuer).hostname, now());
      return (await stableSecret({ db, vault }, 'test-service-provider', make)).toString();
    },
  });
}

const LONG_AGO = new Date(0);

/** ACS addresses and signing certificates of a service provider, enabled or not. */
export function samlSides({ applications }: Services) {
  return async (entityId: string): Promise<{ acsUrls: string[]; certificates: string[] }> => {
    const application = await applications.find(entityId);
    if (application?.protocol !== 'saml') return { acsUrls: [], certificates: [] };
    const { metadata_xml, acs = [], certificates = [] } = application.metadata;
    if (metadata_xml === undefined) {
      const signing = certificates.filter(({ use }) => use !== 'encryption').map(({ pem }) => pem);
      return { acsUrls: acs.map(({ url }) => url), certificates: signing };
    }
    const metadata = parseServiceProviderMetadata(metadata_xml, LONG_AGO);
    return {
      acsUrls: metadata.acs.map(({ url }) => url),
      certificates: metadata.signingCertificates.map(({ pem }) => pem),
    };
  };
}
