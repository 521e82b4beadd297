/** Parts of the page that are loaded when they are first shown. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

/** The component of a module, by the name under which it exports it. */
export function later<Name extends string, Props>(
  load: () => Promise<Readonly<Record<Name, ComponentType<Props>>>>,
  name: Name,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: (await load())[name] }));
}
