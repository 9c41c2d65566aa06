/** What the browser says about the permissions that somebody has asked about: it may change at any time. */
export class Permissions {
  readonly #changed: () => void;
  readonly #statuses = new Map<string, PermissionStatus | undefined>();

  /** `changed`: the states may be others now. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The states that are known by now. A name that the browser does not know has none. */
  get states(): Record<string, PermissionState> {
    const states: Record<string, PermissionState> = {};
    for (const [name, status] of this.#statuses) if (status !== undefined) states[name] = status.state;
    return states;
  }

  /** Asks about this one too. */
  async watch(name: string): Promise<void> {
    if (this.#statuses.has(name)) return;
    this.#statuses.set(name, undefined);
    try {
      const status = await globalThis.navigator.permissions.query({ name: name as PermissionName });
      this.#statuses.set(name, status);
      status.onchange = this.#changed;
      this.#changed();
    } catch {
      // There are no permissions here, or none of that name.
    }
  }
}
