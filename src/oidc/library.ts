// The one place that loads the OpenID Connect engine. Its three parts by their files: the package's index adds only a
// warning about Node 20 to every start, though all that we use works there (the tests run on 20, 22 and 24).

export type * from 'oidc-provider';
export * as errors from 'oidc-provider/lib/helpers/errors.js';
export * as interactionPolicy from 'oidc-provider/lib/helpers/interaction_policy/index.js';
export { Provider } from 'oidc-provider/lib/provider.js';
