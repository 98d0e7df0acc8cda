// Creates the services of registered applications: clients, service providers, APIs, their pictures and consents.
import { createOutgoingFetch } from '../base/network/outgoing-fetch.ts';
import type { Core } from '../core/core.ts';
import type { People } from '../people/people.ts';
import { ownResources } from '../people/rbac/built-in.ts';
import { createAppPasswords } from './app-passwords.ts';
import { type ApplicationHooks, createApplications } from './applications.ts';
import type { Brand } from './brand/brand.ts';
import type { ImageStore } from './brand/image-store.ts';
import { imageLimits } from './brand/limits.ts';
import { createConsents } from './consents/consents.ts';
import { createApplicationPeople } from './people.ts';
import { createApplicationPictures } from './pictures/pictures.ts';
import { createResources } from './resources.ts';

export type ApplicationServices = ReturnType<typeof createApplicationServices>;

export interface ApplicationOptions extends ApplicationHooks {
  brand: Brand;
  brandImages: ImageStore;
  /** The client of the account pages and the console. */
  ownClientId: string;
}

export function createApplicationServices(services: Core & People, options: ApplicationOptions) {
  const { config, outgoingRules } = services;
  const { issuer } = config;
  const { brand, brandImages, ownClientId, ...hooks } = options;
  const applications = createApplications({ ...services, ...hooks }, [
    ownClientId,
    issuer,
    `${issuer}/saml/metadata`,
    ...Object.keys(ownResources(issuer)),
  ]);
  const pictures = createApplicationPictures({
    ...services,
    applications,
    images: brandImages,
    outgoing: createOutgoingFetch({
      rules: outgoingRules,
      timeoutMs: imageLimits.fetchMs,
      maxBytes: imageLimits.bytes,
    }),
  });
  return {
    applications,
    applicationPeople: createApplicationPeople(services),
    pictures,
    brand,
    brandImages,
    consents: createConsents(services),
    appPasswords: createAppPasswords(services),
    resources: createResources(services, applications.isReserved),
  };
}
