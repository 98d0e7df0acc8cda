// `gatehouse serve`: the server, as `npm start` runs it.
import { type Variable, variables } from '../base/config/variables.ts';
import type { Command } from './command.ts';

export const serveCommand: Command = {
  name: 'serve',
  summary: 'start the server; SIGTERM or SIGINT stops it when open requests are done',
  details: `Environment:\n${environmentTable()}`,
  async run() {
    // Loaded here: only this command needs the server.
    const { serve } = await import('../server/serve.ts');
    return serve();
  },
};

function environmentTable(): string {
  const rows = Object.entries<Variable>(variables).map(([name, variable]) => [
    `  ${name}${variable.file ? ` or ${name}_FILE` : ''}`,
    `${variable.meaning} (default: ${variable.default})`,
  ]);
  const width = Math.max(...rows.map(([left = '']) => left.length));
  return rows.map(([left = '', right = '']) => `${left.padEnd(width)}  ${right}`).join('\n');
}
