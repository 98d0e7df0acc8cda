// Addresses that the operator shut out (seed 5.7, IP reputation): refused before any route is asked, with a page that
// can be looked up in the log.
import { inNetworks } from '../platform/networks.ts';
import type { RequestInfo } from '../platform/request-info.ts';
import type { Middleware } from './context.ts';
import { forbidden } from './errors.ts';

export interface DeniedNetworksNeeds {
  /** The networks of the moment, in CIDR notation. */
  networks(): readonly string[];
  /** Told of each refusal. */
  refused(request: RequestInfo): Promise<void>;
}

/** Throws a 403 for requests from these networks. */
export function deniedNetworks({ networks, refused }: DeniedNetworksNeeds): Middleware {
  let list: readonly string[] = [];
  let isDenied = inNetworks(list);
  return async (ctx, next) => {
    const { request } = ctx.state;
    const current = networks();
    if (current !== list) {
      isDenied = inNetworks(current);
      list = current;
    }
    if (!isDenied(request.address)) return next();
    await refused(request);
    throw forbidden('address_denied');
  };
}
