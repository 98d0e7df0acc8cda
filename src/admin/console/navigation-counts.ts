// The numbers in the navigation of each page.
import type { Context, Middleware } from '../../http/context.ts';
import type { NavigationCounts } from './navigation.ts';

export interface NavigationCountsDependencies {
  /** How many requests were rejected lately. */
  recentRejections(): Promise<number>;
}

export function createNavigationCounts({ recentRejections }: NavigationCountsDependencies) {
  const countsOfRequest = new WeakMap<object, NavigationCounts>();
  const count: Middleware = async (ctx, next) => {
    countsOfRequest.set(ctx.req, { rejections: await recentRejections() });
    return next();
  };
  return {
    count,
    /** What `count` read; nothing before it ran. */
    countsAt: (ctx: Context): NavigationCounts => countsOfRequest.get(ctx.req) ?? { rejections: 0 },
  };
}
