// Debian's Apache, whose modules admit the members of a group by the claim or attribute `groups`; no preset has it.
import type { HttpClient } from '../../support/http.ts';
import type { Gatehouse } from '../gatehouse.ts';
import type { StartDownstream } from '../peer.ts';
import { open } from '../travel.ts';
import { aMember, aPerson, eventually, expectPage, type Product, signIn } from './product.ts';

const GROUP = 'lab';

export async function startApacheByGroup(gatehouse: Gatehouse, start: StartDownstream): Promise<Product> {
  const { settings } = gatehouse.services;
  const { version, plain, stop } = await start(gatehouse, GROUP);
  const isIn = async (browser: HttpClient) => plain.userOn(await open(browser, plain.url)) !== undefined;

  return {
    version,
    stop,
    trials: {
      'a member is admitted until the end': async () => {
        const { person, ended } = await aMember(gatehouse, GROUP);
        await aMember(gatehouse, 'club', person);
        const { page } = await signIn(gatehouse, plain.url, person);
        expectPage('not admitted', page, plain.userOn(page) === person.account.email);
        const received = plain.groupsOn?.(page) ?? [];
        if (received.join() !== `club,${GROUP}`) throw new Error(`it received the groups ${received}`);
        await ended();
        const after = await signIn(gatehouse, plain.url, person);
        expectPage('admitted after the end', after.page, [401, 403].includes(after.page.status));
        return `with the groups ${received.join(', ')}; a sign-in after the end: ${after.page.status}`;
      },
      'a person outside of the group is rejected': async () => {
        const { person } = await aMember(gatehouse, 'club');
        const { page } = await signIn(gatehouse, plain.url, person);
        expectPage('admitted', page, [401, 403].includes(page.status));
        const { page: other } = await signIn(gatehouse, plain.url, await aPerson(gatehouse));
        expectPage('admitted without any group', other, [401, 403].includes(other.status));
        return `${page.status}`;
      },
      'its session after the end': async () => {
        const { person, ended } = await aMember(gatehouse, GROUP);
        const { browser, page } = await signIn(gatehouse, plain.url, person);
        expectPage('not admitted', page, plain.userOn(page) !== undefined);
        await ended();
        return (await isIn(browser)) ? 'stays until its session ends' : 'ends';
      },
      'its session after the end, where a change of groups signs out': async () => {
        await settings.set('sign_out_on_role_change', true);
        await settings.reload();
        const { person, ended } = await aMember(gatehouse, GROUP);
        const { browser, page } = await signIn(gatehouse, plain.url, person);
        expectPage('not admitted', page, plain.userOn(page) !== undefined);
        await ended();
        await eventually('its session has ended', async () => !(await isIn(browser)), 120);
        return 'ends within a minute';
      },
    },
  };
}
