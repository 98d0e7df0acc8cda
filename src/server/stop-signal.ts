// SIGTERM and SIGINT of the process that a supervisor or a terminal started.

const SAME_SIGNAL_MILLISECONDS = 500;

/** The first SIGTERM or SIGINT. A second one ends the process at once. */
export function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let since: number | undefined;
    const onSignal = (signal: string) => {
      // npm passes on the Ctrl-C that the terminal sends to its whole process group, so the signal arrives twice.
      if (since !== undefined && performance.now() - since > SAME_SIGNAL_MILLISECONDS) process.exit(130);
      since ??= performance.now();
      resolve(signal);
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  });
}
