// Rejects requests from networks that the operator denied (setting `denied_networks`), before any route runs.
import { inNetworks } from '../network/networks.ts';
import type { RequestInfo } from '../platform/request-info.ts';
import type { Middleware } from './context.ts';
import { forbidden } from './errors.ts';

export interface DeniedNetworksDependencies {
  /** The current networks, in CIDR notation. */
  networks(): readonly string[];
  /** Called for each rejected request. */
  onRejected(request: RequestInfo): Promise<void>;
}

/** Throws a 403 for requests from these networks. */
export function deniedNetworks({ networks, onRejected }: DeniedNetworksDependencies): Middleware {
  let list: readonly string[] = [];
  let isDenied = inNetworks(list);
  async function reject(request: RequestInfo): Promise<never> {
    await onRejected(request);
    throw forbidden('address_denied');
  }
  return (ctx, next) => {
    const { request } = ctx.state;
    const current = networks();
    if (current !== list) {
      isDenied = inNetworks(current);
      list = current;
    }
    return isDenied(request.address) ? reject(request) : next();
  };
}
