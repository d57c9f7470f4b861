/** The operations of a browser that the main path needs. The page's parts are found by CSS selectors, which every driver has. */
export interface OtherBrowser {
  readonly name: string;
  /** Opens a device: a page whose storage is its own. */
  open(url: string): Promise<BrowserPage>;
  close(): Promise<void>;
}

export interface BrowserPage {
  /** Evaluates a JavaScript expression in the page. */
  evaluate(expression: string): Promise<unknown>;
  click(selector: string): Promise<void>;
  /** Types into the element that has the focus. */
  type(text: string): Promise<void>;
  /** Takes back the last change, as the keyboard would. */
  undo(): Promise<void>;
  /** Picks a file in a file field. */
  pick(selector: string, path: string): Promise<void>;
  reload(): Promise<void>;
  /** Errors that scripts of the page threw, as far as the browser reports them. */
  errors(): string[];
}
