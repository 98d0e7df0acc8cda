// The part of a chosen picture that is sent: a square, scaled down. Without script the picture is sent as it is, and pages display its middle.
(() => {
  const SIDE = 512;
  /** What the server accepts, with room for the rest of the form. */
  const MAX_CHARACTERS = 240_000;

  for (const input of document.querySelectorAll('input[data-crop]')) {
    const box = document.getElementById(input.dataset.crop);
    const hint = document.getElementById(`${input.id}-hint`);
    const canvas = box.querySelector('canvas');
    const part = Object.fromEntries([...box.querySelectorAll('[data-part]')].map((one) => [one.dataset.part, one]));
    let picture;

    /** The square that is chosen, in pixels of the picture. */
    const chosen = () => {
      const side = Math.min(picture.width, picture.height) / part.zoom.value;
      return { side, x: (picture.width - side) * part.across.value, y: (picture.height - side) * part.down.value };
    };
    const draw = () => {
      const { side, x, y } = chosen();
      // A side that is there as a whole has nowhere to move.
      part.across.disabled = picture.width - side < 1;
      part.down.disabled = picture.height - side < 1;
      const to = canvas.getContext('2d');
      // JPEG has no transparency.
      to.fillStyle = '#fff';
      to.fillRect(0, 0, SIDE, SIDE);
      to.imageSmoothingQuality = 'high';
      to.drawImage(picture, x, y, side, side, 0, 0, SIDE, SIDE);
    };

    input.addEventListener('change', async () => {
      const [file] = input.files;
      picture = file && (await createImageBitmap(file).catch(() => undefined));
      box.hidden = !picture;
      hint.hidden = Boolean(picture);
      for (const one of Object.values(part)) one.value = one.defaultValue;
      if (picture) draw();
    });
    box.addEventListener('input', draw);

    canvas.addEventListener('pointerdown', (event) => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener('pointermove', (event) => {
      if (!canvas.hasPointerCapture(event.pointerId)) return;
      const { side } = chosen();
      const scale = side / canvas.clientWidth;
      const move = (range, pixels, room) => {
        if (room > 0) range.value = Number(range.value) - (pixels * scale) / room;
      };
      move(part.across, event.movementX, picture.width - side);
      move(part.down, event.movementY, picture.height - side);
      draw();
    });

    input.form.addEventListener('formdata', ({ formData }) => {
      if (!picture) return;
      let url;
      for (let quality = 0.9; quality > 0.3; quality -= 0.1) {
        url = canvas.toDataURL('image/jpeg', quality);
        if (url.length < MAX_CHARACTERS) break;
      }
      const bytes = Uint8Array.from(atob(url.slice(url.indexOf(',') + 1)), (one) => one.charCodeAt(0));
      formData.set('picture', new File([bytes], 'picture.jpg', { type: 'image/jpeg' }));
    });
  }
})();
