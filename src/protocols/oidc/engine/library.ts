// The only file that imports oidc-provider at run time. It imports six files of the package instead of its index. The index adds
// a warning about Node.js 20 to each start; these files run on 20, 22 and 24.

export type * from 'oidc-provider';
export { LOOPBACKS } from 'oidc-provider/lib/consts/client_attributes.js';
export { default as requestStorage } from 'oidc-provider/lib/helpers/als.js';
export * as errors from 'oidc-provider/lib/helpers/errors.js';
export * as grantHelpers from 'oidc-provider/lib/helpers/grants.js';
export * as interactionPolicy from 'oidc-provider/lib/helpers/interaction_policy/index.js';
export { Provider } from 'oidc-provider/lib/provider.js';

/** The engine's own clock, in epoch seconds: it counts its lifetimes by it. */
export const engineSeconds = () => Math.floor(Date.now() / 1000);
