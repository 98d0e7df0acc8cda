// The input and the result of registering or changing an application.

import type { Tx } from '../base/storage/database.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { ApplicationSource, OidcApplication } from './application.ts';
import type { Access } from './fields/oidc-client.ts';
import type { ServiceProviderSettings } from './fields/service-provider.ts';

export type SamlInput = {
  entityId: string;
  name: string;
  enabled: boolean;
  consent: 'explicit' | 'implicit';
  access: Access;
  settings: ServiceProviderSettings;
};
export type Registered = {
  application: OidcApplication;
  /** Displayed once; absent when the application has none or its owner knows it. */
  clientSecret?: string;
};
export type Change = {
  by?: Actor;
  tx?: Tx;
  /** Where the change comes from. Only the configuration file may change what it declares. */
  source?: ApplicationSource;
};
