// Keeps what goes wrong while a part of the page is drawn to that part: its plain words stand in its place.

import { Component, type ComponentChildren } from "preact";

interface BoundaryProps {
  /** What is drawn, as a value: when it changes, drawing is tried again. */
  readonly of: unknown;
  readonly plain: ComponentChildren;
  readonly children: ComponentChildren;
}

export class Boundary extends Component<BoundaryProps, { readonly failedOf: unknown }> {
  override state = { failedOf: Boundary };

  override componentDidCatch(): void {
    this.setState({ failedOf: this.props.of });
  }

  override render(): ComponentChildren {
    return this.state.failedOf === this.props.of ? this.props.plain : this.props.children;
  }
}
